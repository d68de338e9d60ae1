import { defineTool } from 'troupe'
import { trains } from './trains.ts'

const text = (description: string) => ({ type: 'string', description })

export const timetable = defineTool({
  name: 'timetable',
  description: 'Lists the trains between two cities, by departure.',
  input: {
    type: 'object',
    properties: {
      from: text('City of departure'),
      to: text('City of arrival'),
      after: { ...text('Earliest departure, such as 09:30'), pattern: '^\\d\\d:\\d\\d$' },
    },
    required: ['from', 'to'],
  },
  output: {
    type: 'array',
    items: { type: 'object', properties: { departs: text('Time'), arrives: text('Time') }, required: ['departs', 'arrives'] },
  },
  effect: 'read',
  concurrency: 'shared',
  execute: ({ from, to, after = '00:00' }) =>
    trains
      .filter((train) => train.from === from && train.to === to && train.departs >= String(after))
      .map(({ departs, arrives }) => ({ departs, arrives })),
})
