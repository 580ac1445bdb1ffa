// Reports to the parent when its connection is open and when it has ended.
process.once('disconnect', () => process.exit());
const { url, token } = JSON.parse(process.argv[2]);
const socket = new WebSocket(`${url}?token=${token}`);
socket.addEventListener('open', () => process.send('connected'));
socket.addEventListener('close', () => process.send('ended'));
