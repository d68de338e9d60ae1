import type { ApprovalKey } from '../contracts/index.ts'

/** The name of requests to models by tools, in rules: `sampling`, or `sampling(server)`. */
export const samplingName = 'sampling'

export const samplingKey = (from: string): ApprovalKey => ({ key: `${samplingName}:${from}`, label: `requests of ${from} to the model` })
