import { type JsonObject, storedOutputFlag, type Tool } from '../../contracts/index.ts'

export const readOutputName = 'read_output'

/** Pages and searches outputs that were too large to show. Offered once there is one; what it does is loaded at its first call. */
export function readOutputTool(): Tool {
  return {
    name: readOutputName,
    description:
      'Reads an earlier output that was too large to show in full: page through its lines, or search in it. The handle stands where the output was cut.',
    inputSchema,
    effect: 'read',
    concurrency: 'shared',
    requires: [{ flag: storedOutputFlag }],
    async execute(input, context) {
      const { readOutput } = await import('./read-output.ts')
      return readOutput(requestOf(input), context)
    },
  }
}

const mostLines = 2_000
const defaultLines = 200
const defaultContext = 2
const mostContext = 20

const inputSchema = {
  type: 'object',
  properties: {
    handle: { type: 'string', description: 'The handle of the output.' },
    from_line: { type: 'integer', minimum: 1, description: 'The first line to show or to search. Default 1.' },
    lines: { type: 'integer', minimum: 1, maximum: mostLines, description: `How many lines to show. Default ${defaultLines}.` },
    from_column: { type: 'integer', minimum: 1, description: 'Shows only the line from_line, from this column on: for very long lines.' },
    search: {
      type: 'string',
      minLength: 1,
      maxLength: 500,
      description: 'Shows the lines that contain this text instead; letter case does not matter.',
    },
    context: {
      type: 'integer',
      minimum: 0,
      maximum: mostContext,
      description: `Lines to show around each hit. Default ${defaultContext}.`,
    },
  },
  required: ['handle'],
  additionalProperties: false,
}

export interface ReadRequest {
  readonly handle: string
  readonly fromLine: number
  readonly fromColumn: number | undefined
  readonly lines: number
  readonly search: string | undefined
  readonly context: number
}

/** The input has been validated; this only fills in what was left out. */
function requestOf({ handle, from_line, from_column, lines, search, context }: JsonObject): ReadRequest {
  return {
    handle: String(handle),
    fromLine: whole(from_line, [1, Number.MAX_SAFE_INTEGER]) ?? 1,
    fromColumn: whole(from_column, [1, Number.MAX_SAFE_INTEGER]),
    lines: whole(lines, [1, mostLines]) ?? defaultLines,
    search: typeof search === 'string' && search !== '' ? search : undefined,
    context: whole(context, [0, mostContext]) ?? defaultContext,
  }
}

function whole(value: unknown, [least, most]: readonly [number, number]): number | undefined {
  return typeof value === 'number' ? Math.min(most, Math.max(least, Math.floor(value))) : undefined
}
