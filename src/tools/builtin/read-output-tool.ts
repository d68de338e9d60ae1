import { type JsonObject, storedOutputFlag, type Tool } from '../../contracts/index.ts'

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
    handle: { type: 'string', description: 'Handle of the output.' },
    from_line: { type: 'integer', minimum: 1, description: 'First line to show or search. Default 1.' },
    lines: { type: 'integer', minimum: 1, maximum: mostLines, description: `Number of lines to show. Default ${defaultLines}.` },
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
      maximum: mostContext,
      description: `Context lines around each match. Default ${defaultContext}.`,
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

/** Fills in defaults; the input is already validated. */
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
