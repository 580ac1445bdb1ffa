import { bundleAhead } from '../bundle.ts';

// Usage: node synthesis-process.ts <directory> <settings as JSON>. esbuild runs while the CDK loads.
const bundling = bundleAhead();
const { synthesize } = await import('./synthesize.ts');
await bundling;
synthesize(process.argv[2] ?? '', JSON.parse(process.argv[3] ?? '{}'));
process.exit(); // otherwise esbuild keeps the process running
