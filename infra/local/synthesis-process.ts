import { bundleAhead } from '../bundle.ts';

// node synthesis-process.ts <directory>: esbuild is at work while the CDK is loaded.
const bundling = bundleAhead();
const { synthesize } = await import('./synthesize.ts');
await bundling;
synthesize(process.argv[2] ?? '');
process.exit(); // esbuild would wait for more
