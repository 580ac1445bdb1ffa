import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, vi } from 'vitest';
import { snippetsIn } from '../../../../functions/site/docs/render/guides.ts';
import { signatureHeaders } from '../../../../lib/webhooks/signing.ts';
import { afterFile, temporaryDirectory } from '../../../support/after-file.ts';
import { freePort, listen } from '../../../support/endpoints.ts';

const guide = readFileSync('functions/site/docs/guides/receiving.md', 'utf8');
const snippets = snippetsIn(guide, 'Verify with a library');
const codeIn = (language: string): string => (snippets.get(language) ?? '').trim();
const [imports = '', flask = '', wsgi = ''] = codeIn('python').split('\n\n');
const indented = (code: string, by: string): string => code.replaceAll('\n', `\n${by}`);

const GO_VERSION = '0.0.1';
const SECRET = 'whsec_bGlzdGVuIHRvIG1lLCBsaXN0ZW4gdG8gbWU=';
const python = process.env.PYTHON ?? 'python3';
const runs = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;
const phpFpm = readdirSync('/usr/sbin').find((name) => name.startsWith('php-fpm')) ?? 'php-fpm';

/** The code of the guide in a server, as users deploy it. */
interface Deployment {
  language: string;
  canRun: boolean;
  /** The registry of the library is not available in CI, so the code calls another class, which returns its arguments as JSON. */
  returnsArguments?: true;
  files(port: number): Record<string, string>;
  /** Commands before the last one build the server. */
  commands: string[][];
  /** The requests are sent to FastCGI. */
  fastCgi?: true;
}

const DEPLOYMENTS: Record<string, Deployment> = {
  Flask: {
    language: 'python',
    canRun: runs(python, '-c', 'import flask, standardwebhooks'),
    files: () => ({
      'receiver.py': `import os
from flask import Flask, request
${imports}
secret = os.environ["SECRET"]
app = Flask(__name__)

@app.post("/hook")
def receive():
    ${indented(flask, '    ')}
    return event`,
    }),
    commands: [[python, '-m', 'flask', '--app', 'receiver', 'run', '--port', 'PORT']],
  },
  WSGI: {
    language: 'python',
    canRun: runs(python, '-c', 'import standardwebhooks'),
    files: (port) => ({
      'receiver.py': `import json, os
from wsgiref.simple_server import make_server
${imports}
secret = os.environ["SECRET"]

def receive(environ, start_response):
    ${indented(wsgi, '    ')}
    start_response("200 OK", [])
    return [json.dumps(event).encode()]

make_server("127.0.0.1", ${port}, receive).serve_forever()`,
    }),
    commands: [[python, 'receiver.py']],
  },
  'net/http': {
    language: 'go',
    canRun: runs('go', 'version'),
    files: (port) => ({
      'go.mod': 'module receiver\ngo 1.19\n',
      'receiver.go': `package main
import (
  standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
  "io"
  "net/http"
  "os"
)
func main() {
  secret := os.Getenv("SECRET")
  http.HandleFunc("/hook", func(response http.ResponseWriter, request *http.Request) {
    ${codeIn('go')}
    if err != nil {
      response.WriteHeader(http.StatusUnauthorized)
      return
    }
    response.Write(rawBody)
  })
  http.ListenAndServe("127.0.0.1:${port}", nil)
}`,
    }),
    commands: [
      ['go', 'get', `github.com/standard-webhooks/standard-webhooks/libraries@v${GO_VERSION}`],
      ['go', 'build', '-o', 'receiver', '.'],
      ['./receiver'],
    ],
  },
  'a servlet': {
    language: 'java',
    canRun: runs('javac', '-version'),
    returnsArguments: true,
    files: (port) => ({
      'com/standardwebhooks/Webhook.java': `package com.standardwebhooks;
import java.util.*;
public class Webhook {
  public static String arguments;
  public Webhook(String secret) {}
  public void verify(String body, Map<String, List<String>> headers) {
    arguments = "[" + body;
    headers.forEach((name, values) -> arguments += ",[\\"" + name + "\\",\\"" + values.get(0) + "\\"]");
    arguments += "]";
  }
}`,
      // The methods of a servlet that the code uses, on the server of the JDK, which has names such as "Webhook-id".
      'Receiver.java': `import com.sun.net.httpserver.*;
import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
class Receiver {
  record Request(HttpExchange exchange) {
    Enumeration<String> getHeaders(String name) { return Collections.enumeration(exchange.getRequestHeaders().get(name)); }
    InputStream getInputStream() { return exchange.getRequestBody(); }
  }
  static void receive(Request request, String secret) throws Exception {
    ${codeIn('java')}
  }
  public static void main(String[] given) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", ${port}), 0);
    server.createContext("/hook", exchange -> {
      try { receive(new Request(exchange), System.getenv("SECRET")); } catch (Exception error) { throw new IOException(error); }
      byte[] body = com.standardwebhooks.Webhook.arguments.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
  }
}`,
    }),
    commands: [
      ['javac', '-encoding', 'UTF-8', 'Receiver.java', 'com/standardwebhooks/Webhook.java'],
      ['java', '-cp', '.', 'Receiver'],
    ],
  },
  'PHP-FPM': {
    language: 'php',
    canRun: runs(phpFpm, '-v') && existsSync('/usr/bin/cgi-fcgi'),
    returnsArguments: true,
    files: (port) => ({
      'receiver.php': `<?php
namespace StandardWebhooks { class Webhook {
  function __construct(string $secret) {}
  function verify(string $payload, array $headers): array { return [json_decode($payload), ...array_map(null, array_keys($headers), $headers)]; }
} }
namespace {
$secret = getenv('SECRET');
${codeIn('php')}
echo json_encode($event);
}`,
      'fpm.conf': `[global]\nerror_log = fpm.log\ndaemonize = no\n[www]\nlisten = 127.0.0.1:${port}\npm = static\npm.max_children = 1\nclear_env = no\n`,
    }),
    commands: [[phpFpm, '--fpm-config', 'fpm.conf', '--prefix', '.', '--allow-to-run-as-root']],
    fastCgi: true,
  },
  Rack: {
    language: 'ruby',
    canRun: runs('ruby', '-e', 'require "rack"; require "puma"'),
    returnsArguments: true,
    files: () => ({
      'config.ru': `require 'json'
module StandardWebhooks
  class Webhook
    def initialize(secret) = nil
    def verify(payload, headers) = [JSON.parse(payload), *headers.to_a]
  end
end
run(lambda do |env|
  secret = ENV['SECRET']
  request = Rack::Request.new(env)
  ${codeIn('ruby')}
  [200, {}, [JSON.generate(event)]]
end)`,
    }),
    commands: [['puma', '--quiet', '--bind', 'tcp://127.0.0.1:PORT']],
  },
};

const started: ChildProcess[] = [];
afterFile(() => {
  for (const { pid, exitCode } of started) if (pid && exitCode === null) process.kill(-pid);
});

/** Starts a deployment, and returns a function that sends a delivery and returns the status and the text of the response. */
async function start({ files, commands, fastCgi }: Deployment) {
  const port = await freePort();
  const cwd = temporaryDirectory();
  for (const [name, text] of Object.entries(files(port))) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const env = { ...process.env, SECRET };
  const all = commands.map((command) => command.map((word) => word.replace('PORT', String(port))));
  const [command = '', ...args] = all.pop() ?? [];
  for (const [build = '', ...options] of all) execFileSync(build, options, { cwd, env, stdio: 'pipe' });
  started.push(spawn(command, args, { cwd, env, detached: true, stdio: 'ignore' }));
  const url = fastCgi
    ? `http://127.0.0.1:${await listen(fastCgiGateway(port, join(cwd, 'receiver.php')))}/hook`
    : `http://127.0.0.1:${port}/hook`;
  const send = async (headers: Record<string, string>, body: string) => {
    const response = await fetch(url, { method: 'POST', headers, body });
    return { status: response.status, text: await response.text() };
  };
  const { headers, body } = delivery();
  const isReady = async () => expect((await send(headers, body)).status).toBe(200);
  await vi.waitFor(isReady, { timeout: 60_000, interval: 100 });
  return send;
}

/** A web server that forwards each request to FastCGI, as nginx does with PHP-FPM. */
const fastCgiGateway = (port: number, script: string) =>
  createServer(async (request, response) => {
    const body = await buffer(request);
    const headers = Object.entries(request.headers).map(([name, value]) => [
      `HTTP_${name.toUpperCase().replaceAll('-', '_')}`,
      String(value),
    ]);
    const env = {
      ...Object.fromEntries(headers),
      SCRIPT_FILENAME: script,
      REQUEST_METHOD: 'POST',
      CONTENT_LENGTH: String(body.length),
      CONTENT_TYPE: 'application/json',
      PATH: process.env.PATH ?? '',
    };
    const child = spawn('cgi-fcgi', ['-bind', '-connect', `127.0.0.1:${port}`], { env });
    child.stdin.on('error', () => {}).end(body);
    const [, text = ''] = String(await buffer(child.stdout)).split('\r\n\r\n');
    response.writeHead(text === '' ? 502 : 200).end(text);
  });

/** A delivery of the service, with a body that is not ASCII. */
function delivery(secret = SECRET) {
  const body = JSON.stringify({ id: 'evt_1', type: 'document.changed', data: { text: 'Füße 😀' } });
  const timestampSeconds = Math.floor(Date.now() / 1000);
  return { body, headers: signatureHeaders({ secret, id: 'evt_1', timestampSeconds, body }) };
}

describe('the code of the guide for libraries', () => {
  it('is there for six languages, with the tested versions', () => {
    const languages = ['javascript', ...Object.values(DEPLOYMENTS).map(({ language }) => language)];
    expect([...snippets.keys()]).toEqual([...new Set(languages)]);
    const rows = [...guide.matchAll(/^\| (JavaScript|Python|Go) \| .+ \| ([\d.]+), .+ \|$/gm)].map(
      ([, name, version]) => [name, version],
    );
    const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    const [, inRequirements] =
      /^standardwebhooks==([\d.]+)/m.exec(readFileSync(`${import.meta.dirname}/requirements.txt`, 'utf8')) ?? [];
    expect(Object.fromEntries(rows)).toEqual({
      JavaScript: devDependencies.standardwebhooks,
      Python: inRequirements,
      Go: GO_VERSION,
    });
  });

  it.each(
    Object.entries(DEPLOYMENTS).filter(([, { canRun }]) => canRun),
  )('receives an event in %s', async (_, deployment) => {
    const send = await start(deployment);
    const { headers, body } = delivery();
    const { text } = await send(headers, body);
    if (deployment.returnsArguments) {
      const [event, ...pairs] = JSON.parse(text);
      const given = Object.fromEntries(pairs); // names in other cases would be missing
      for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
        expect(given[name], name).toBe(headers[name]);
      expect(new Webhook(SECRET).verify(JSON.stringify(event), given)).toEqual(JSON.parse(body));
      return;
    }
    expect(JSON.parse(text)).toEqual(JSON.parse(body));
    const forged = delivery('whsec_YW5vdGhlciBzZWNyZXQgb2YgMjQgYnl0ZXM=');
    expect((await send(forged.headers, forged.body)).status).not.toBe(200);
    expect((await send(headers, `${body} `)).status).not.toBe(200);
  });
});
