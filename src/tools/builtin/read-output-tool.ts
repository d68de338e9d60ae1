import { storedOutputFlag, type Tool } from '../../contracts/index.ts'

export const readOutputName = 'read_output'

/** Pages and searches stored outputs. Offered when there is one; the implementation is loaded at the first call. */
export function readOutputTool(): Tool {
  return {
    name: readOutputName,
    description:
      'Read a stored output that was too large to show: page through its lines, or search in it. The handle is shown where the output was cut.',
    inputSchema,
    effect: 'read',
    concurrency: 'shared',
    requires: [{ flag: storedOutputFlag }],
    async execute(input, context) {
      const { readOutput } = await import('./read-output.ts')
      return readOutput({ from_line: 1, lines: defaultLines, context: defaultContext, ...input } as ReadInput, context)
    },
  }
}

const defaultLines = 200
const defaultContext = 2

const inputSchema = {
  type: 'object',
  properties: {
    handle: { type: 'string', description: 'Handle of the output.' },
    from_line: { type: 'integer', minimum: 1, description: 'First line to show or search. Default 1.' },
    lines: { type: 'integer', minimum: 1, maximum: 2_000, description: `Number of lines to show. Default ${defaultLines}.` },
    from_column: { type: 'integer', minimum: 1, description: 'Show only line from_line, starting at this column. For very long lines.' },
    search: {
      type: 'string',
      minLength: 1,
      maxLength: 500,
      description: 'Show only lines that contain this text, ignoring case.',
    },
    context: {
      type: 'integer',
      minimum: 0,
      maximum: 20,
      description: `Context lines around each match. Default ${defaultContext}.`,
    },
  },
  required: ['handle'],
  additionalProperties: false,
}

export interface ReadInput {
  readonly handle: string
  readonly from_line: number
  readonly from_column?: number
  readonly lines: number
  readonly search?: string
  readonly context: number
}
