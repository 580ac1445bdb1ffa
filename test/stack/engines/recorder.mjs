/** The events that the service receives, and the problems that an adapter reports. */
export const events = [];
export const log = [];

/** The options of an adapter for a service that accepts every event. */
export const recording = {
  baseUrl: 'https://api.example.com',
  credential: 'key',
  directory: './document-sync',
  log: (message) => log.push(message),
  fetch: async (url, { body }) => {
    if (String(url).endsWith('/v1/events/batch')) events.push(...JSON.parse(body).events);
    return new Response('{}', { status: 202 });
  },
};
