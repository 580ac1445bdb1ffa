import { runCommand } from '../command.ts';
import { dev } from '../dev.ts';

// document-sync COMMAND, the executable of the npm package
await runCommand(dev('document-sync'));
