import { bursts, measureNeighbor, neighbors } from '../../support/neighbors.ts';

export interface Neighbor {
  name: string;
  alone: number;
  beside: number;
  ratio: number;
}

// The functions of the model need environment variables, which this process has from its start.
const measured: Neighbor[] = [];
for (const name of [...neighbors, ...bursts]) measured.push({ name, ...(await measureNeighbor(name)) });
process.send?.(measured);
process.disconnect();
