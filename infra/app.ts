import { createApp } from './service.ts';

createApp().synth();
