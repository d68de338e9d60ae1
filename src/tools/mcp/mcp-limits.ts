// What one server can cost. A server that exceeds a limit loses the message, the call or the tool, never the session.

/** One message of a server, or one response. */
export const maxMessageBytes = 8 * 1024 * 1024
/** For all messages. Above it, the server is read more slowly. */
export const maxMessagesPerSecond = 2_000
export const maxBytesPerSecond = 32 * 1024 * 1024
/** Messages that a server has not read. */
export const maxUnsentBytes = 16 * 1024 * 1024

/** For each list: tools, prompts, resources, URI templates. */
export const maxPages = 100
export const maxListed = 1_000
export const maxListBytes = 8 * 1024 * 1024

export const maxNameCharacters = 128
export const maxDescriptionCharacters = 8_000
export const maxInstructionsCharacters = 8_000
export const maxSchemaBytes = 64 * 1024
export const maxErrorCharacters = 4_000

/** For one result. */
export const maxParts = 100

export const maxProgressPerSecond = 10
export const maxLogLinesPerSecond = 20
export const maxLogCharacters = 500

/** A changed list is read again so long after its first change, and not more often. */
export const listAgainMs = 500
/** While tools are withheld: how often it is checked whether a person has accepted them. */
export const acceptAgainMs = 5_000

/** Rounds of questions in one call, for servers that ask by returning. */
export const maxQuestionRounds = 10

/** For each request, unless the definition has a `timeout`. */
export const defaultServerTimeoutMs = 60_000

/** How long a process may take to end by itself, and after SIGTERM. */
export const endByItselfMs = 300
export const terminateMs = 700

/** Delay before a server is started or asked again: doubled with each failure in a row. */
export const restartDelay = (failures: number): number => Math.min(250 * 2 ** (failures - 1), 30_000)

/** A connection that was started ahead is closed if no session takes it. */
export const spareIdleMs = 300_000
