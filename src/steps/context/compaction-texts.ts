import type { BlobId, Carried, Message, Plan } from '../../contracts/index.ts'

// What models are told when a history is made shorter.

export const summaryPrompt = `The conversation has become too long and is about to be shortened. Do not go on with the task now, and call no tools. \
Sum up for yourself what you will need to go on: what was found out, with names, paths and figures as they are; what was decided and why; \
what did not work; what is still to be done, and what comes next. What was asked, the plan and the list of calls that changed something are \
kept beside your summary; do not repeat them.`

export interface CompactedContext {
  readonly carried: Pick<Carried, 'bundles' | 'lines' | 'summary'>
  readonly plan: Plan | undefined
  /** Where it is all kept; nothing where the model has no tool to read it with. */
  readonly handle: BlobId | undefined
}

/** What stands in place of all that was said. */
export function compactionMessage({ carried, plan, handle }: CompactedContext): Message {
  const opening = 'The conversation so far was shortened to make room.'
  const effects = effectLines(carried)
  const sections = [
    handle === undefined ? opening : `${opening} ${storedTextHint(handle)}`,
    ...(plan ? [planText(plan)] : []),
    ...(effects.length > 0
      ? [`Calls that have already been made and may have changed something; do not repeat them:\n${effects.join('\n')}`]
      : []),
    `What is known so far:\n${carried.summary}`,
  ]
  return { role: 'user', parts: [{ type: 'text', text: sections.join('\n\n') }] }
}

/** Each bundle is a line of its own. */
export const effectLines = ({ bundles, lines }: Pick<Carried, 'bundles' | 'lines'>): readonly string[] => [
  ...bundles.map(({ count, handle }) => `- (${count} earlier ones: read_output {"handle":${JSON.stringify(handle)}} lists them)`),
  ...lines,
]

const storedTextHint = (handle: BlobId): string =>
  `What was said is kept: read_output {"handle":${JSON.stringify(handle)}} pages and searches it. What was shortened before that is named in it.`

export const planText = ({ steps }: Plan): string => `The plan:\n${steps.map(({ step, status }) => `- [${status}] ${step}`).join('\n')}`
