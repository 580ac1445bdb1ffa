import { listening } from './http.ts';

// An endpoint in a process of its own: tells its parent its address, and then how many requests it has answered.
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
