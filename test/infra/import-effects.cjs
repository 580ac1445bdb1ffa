// Usage: node import-effects.cjs <bundle>. Prints what the import of a bundle does beyond evaluating its code, as a JSON array.
const fs = require('node:fs');
const Module = require('node:module');

/** The length of an expression that takes long to compile. */
const LARGE = 1024;

const [, , path = ''] = process.argv;
const code = fs.readFileSync(path, 'utf8');
const write = process.stdout.write.bind(process.stdout);
const effects = [];

/** Notes the calls of a function, and lets them happen. */
function noted(name, original, isNoted = () => true) {
  const note = (args) => {
    if (isNoted(args)) effects.push(name);
  };
  return new Proxy(original, {
    apply(target, self, args) {
      note(args);
      return Reflect.apply(target, self, args);
    },
    construct(target, args, type) {
      note(args);
      return Reflect.construct(target, args, type);
    },
  });
}

for (const name of Object.getOwnPropertyNames(Intl))
  if (/^[A-Z]/.test(name) && typeof Intl[name] === 'function') Intl[name] = noted(`Intl.${name}`, Intl[name]);
globalThis.RegExp = noted('RegExp', RegExp, ([source]) => String(source?.source ?? source).length > LARGE);

const IO = {
  fs: /^(read|write|open|stat|lstat|access|exists|opendir|createReadStream|createWriteStream)/,
  'fs/promises': /^(read|write|open|stat|lstat|access|opendir)/,
  net: /^(connect|createConnection|createServer)$/,
  tls: /^(connect|createServer|createSecureContext)$/,
  http: /^(request|get|createServer)$/,
  https: /^(request|get|createServer)$/,
  dns: /^(lookup|resolve)/,
  child_process: /^(exec|spawn|fork)/,
};
for (const [module, names] of Object.entries(IO)) {
  const exported = require(`node:${module}`);
  for (const name of Object.keys(exported).filter((each) => names.test(each)))
    exported[name] = noted(`${module}.${name}`, exported[name]);
}
for (const name of ['stdout', 'stderr']) {
  const stream = Object.getOwnPropertyDescriptor(process, name)?.get;
  if (stream) Object.defineProperty(process, name, { get: noted(`process.${name}`, stream) });
}

const bundle = new Module(path);
bundle.filename = path;
bundle.paths = [];
bundle._compile(code, path);
write(JSON.stringify(effects), () => process.exit());
