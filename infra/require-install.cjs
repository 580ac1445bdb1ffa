// Runs before a command, in each version of Node.js. Before `npm ci`, `node` is the one of the user. On a system for which npm has
// no Node.js, it still is after `npm ci`.
const MIN_MAJOR = 24;

function problem() {
  try {
    require.resolve('valibot');
  } catch {
    return 'Run `npm ci` first. It installs the packages and the Node.js of this project.';
  }
  const { platform, arch, version } = process;
  if (Number.parseInt(version.slice(1), 10) >= MIN_MAJOR) return undefined;
  return `Install Node.js ${MIN_MAJOR} or newer, because this is ${version} and \`npm ci\` installed none for ${platform}-${arch}.`;
}

const text = problem();
if (text !== undefined) {
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}
