/** What a process that runs for long says to the person who runs it. */
export interface Log {
  /** Details for finding the cause of a problem. */
  debug(text: string): void
  note(text: string): void
  warn(text: string): void
  /** An unexpected error, which clients do not see. */
  failure(error: unknown, requestId?: string): void
}
