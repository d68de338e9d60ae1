/** What the configuration needs of a disk. Paths are absolute. */
export interface ConfigFiles {
  /** What stands in a file; `undefined` where there is none. Rejects where there is one that cannot be read. */
  read(path: string): Promise<string | Uint8Array | undefined>
  /**
   * Puts `text` in the place of `before` (`undefined`: there is no file yet), as a whole or not at all. False where
   * something else stands there by now: of two that start from the same text, one at the most is told that it was written.
   */
  replace(path: string, before: string | undefined, text: string): Promise<boolean>
}
