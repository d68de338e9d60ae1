import type { JsonOutput } from './agent.ts'

// Texts for models that more than one area writes or recognises.

/** The end of the notice for a last step. */
export const lastStepInstruction = 'Answer now with what you have. Tools are disabled.'

/** Begins the notice for an answer that is not the requested JSON. */
export const invalidAnswerPrefix = 'Your answer is invalid: '

/** Begins the message that replaces a history that was too long. */
export const compactionPrefix = 'The earlier conversation was shortened.'

/** For `output.format: text`. */
export const plainTextInstruction = 'Answer in plain text, without Markdown.'

/** For models without a schema mode, at the end of the system text. */
export function jsonInstruction({ schema }: JsonOutput): string {
  const shape = schema === undefined ? '' : `\nThe JSON must be valid against this JSON Schema:\n${JSON.stringify(schema)}`
  return `Give your final answer as JSON only: no words before or after it, no code fence.${shape}`
}

export const appendInstruction = (system: string, words: string | undefined): string =>
  [system, words].filter((text) => text !== undefined && text !== '').join('\n\n')

const opening = 'Project instructions from the file '
const closing = ':'

/** Marks the text of a project file, so that a model does not take it for a message of the user. */
export const wrapProjectText = (file: string, text: string): string => `${opening}${file}${closing}\n\n${text}`

export const isProjectText = (text: string): boolean => text.startsWith(opening) && (text.split('\n', 1)[0] ?? '').endsWith(closing)
