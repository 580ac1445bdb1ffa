import { listening } from './http.ts';

// An endpoint in a separate process. Sends its address to its parent, and later the number of handled requests.
let received = 0;
const { url } = await listening((request, response) => {
  request.resume().on('end', () => {
    received++;
    response.writeHead(204).end();
  });
});
process.send?.(url);
process.on('message', () => process.send?.(received));
process.on('disconnect', () => process.exit(0));
