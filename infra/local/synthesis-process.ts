import { bundleAhead } from '../bundle.ts';

// Usage: node synthesis-process.ts <directory>. esbuild runs while the CDK loads.
const bundling = bundleAhead();
const { synthesize } = await import('./synthesize.ts');
await bundling;
synthesize(process.argv[2] ?? '');
process.exit(); // otherwise esbuild keeps the process running
