/** Untrusted text in one line, safe for a terminal. Only colour and cursor sequences are removed completely: no words may be hidden. */
export function printable(text: string): string {
  return text
    .replace(coloursAndCursors, '')
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '')
    .trim()
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with it
const coloursAndCursors = /(?:\u001b\[|\u009b)\??(?:\d+(?:;\d+)*)?[A-Za-z]/g

/** Untrusted text of several lines, safe for a terminal. Joiners stay: some scripts and many emoji need them. */
export function printableText(text: string): string {
  return text
    .replace(sequences, '')
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replace(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu, '')
}

/** Control sequences. Of a string sequence that does not end in its line, only the introducer is removed. */
const sequences = new RegExp(
  [
    String.raw`(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?`,
    String.raw`(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])(?:[^\u0000-\u001f\u007f-\u009f]*(?:\u0007|\u001b\\|\u009c))?`,
    String.raw`\u001b[ -/]*[0-~]?`,
  ].join('|'),
  'g',
)
