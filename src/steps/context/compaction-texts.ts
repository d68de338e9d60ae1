import { type BlobId, type Carried, compactionPrefix, type Message, type Plan } from '../../contracts/index.ts'

// Texts for models about compaction.

export const summaryPrompt = `The conversation is too long and will be shortened. Do not continue the task now, and do not call tools. \
Write a summary for yourself with everything you need to continue: findings, with exact names, paths and numbers; decisions and their reasons; \
what did not work; what remains to be done, and the next step. Do not repeat the task, the plan or the list of calls that changed something: \
they are kept.`

interface CompactedContext {
  readonly carried: Pick<Carried, 'bundles' | 'lines' | 'summary'>
  readonly plan: Plan | undefined
  /** The handle of the stored text. Absent if the model has no tool to read it. */
  readonly handle: BlobId | undefined
}

/** The message that replaces the history. */
export function compactionMessage({ carried, plan, handle }: CompactedContext): Message {
  const effects = effectLines(carried)
  const sections = [
    handle === undefined ? compactionPrefix : `${compactionPrefix} ${storedTextHint(handle)}`,
    ...(plan ? [planText(plan)] : []),
    ...(effects.length > 0
      ? [`Calls that were already made and may have changed something. Do not repeat them:\n${effects.join('\n')}`]
      : []),
    `Summary:\n${carried.summary}`,
  ]
  return { role: 'user', parts: [{ type: 'text', text: sections.join('\n\n') }] }
}

/** One line for each bundle, then the newest calls. */
export const effectLines = ({ bundles, lines }: Pick<Carried, 'bundles' | 'lines'>): readonly string[] => [
  ...bundles.map(({ count, handle }) => `- (${count} earlier calls: read_output {"handle":${JSON.stringify(handle)}} lists them)`),
  ...lines,
]

const storedTextHint = (handle: BlobId): string =>
  `The full text is stored: read it with read_output {"handle":${JSON.stringify(handle)}}. It refers to text that was shortened earlier.`

export const planText = ({ steps }: Plan): string => `The plan:\n${steps.map(({ step, status }) => `- [${status}] ${step}`).join('\n')}`
