// Runs before a command, in each version of Node.js: without `npm ci`, `node` may be one that cannot run TypeScript.
try {
  if (!process.features.typescript) throw new Error('Node.js is too old');
  require.resolve('valibot');
} catch {
  process.stderr.write(
    'Run `npm ci` first, without --ignore-scripts. It installs the packages and the Node.js of this project.\n',
  );
  process.exitCode = 1;
}
