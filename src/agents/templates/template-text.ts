/** A template out of a file. */
export interface TemplateText {
  readonly text: string
  /** The path that names the file in problems. */
  readonly place: string
  /** The line of the file that the text begins on. */
  readonly firstLine: number
}
