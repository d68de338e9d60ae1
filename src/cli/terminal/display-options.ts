export const colourChoices = ['auto', 'always', 'never'] as const
export type ColourChoice = (typeof colourChoices)[number]
export const logFormats = ['text', 'json'] as const
export type LogFormat = (typeof logFormats)[number]

/** What standard output gets. */
export type OutputForm = 'answer' | 'json' | 'stream-json'

/** How much is printed on standard error. */
type Detail = 'quiet' | 'normal' | 'verbose'

/** Options for standard error. */
export interface DisplayOptions {
  readonly detail: Detail
  readonly logFormat: LogFormat
  readonly color: ColourChoice
}
