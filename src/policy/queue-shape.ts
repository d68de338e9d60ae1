import { integer, type Shape } from './shape.ts'

/** Limits of a queue, of which at least one is set. */
export const queueShape: Shape = {
  kind: 'fields',
  of: { concurrent: integer(1, '8'), perMinute: integer(1, '300') },
  findConflicts: ({ concurrent, perMinute }) =>
    concurrent === undefined && perMinute === undefined
      ? [{ key: '', message: 'sets no limit', remedy: 'Set concurrent or perMinute, or remove the queue.' }]
      : [],
}

export const queuesShape: Shape = {
  kind: 'names',
  of: queueShape,
  example: '{ "openai": { "concurrent": 8 } }',
  name: /\S/,
  naming: 'Use the name of a provider, a server or a tool',
}
