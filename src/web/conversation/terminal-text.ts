// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes begin with a control character
const codes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g

/** Output of a program without colours and cursor movements. A line that was overwritten shows its last text. */
export const withoutCodes = (text: string): string => text.replace(codes, '').split('\n').map(lastText).join('\n')

function lastText(line: string): string {
  let end = line.length
  while (line[end - 1] === '\r') end--
  return line.slice(line.slice(0, end).lastIndexOf('\r') + 1, end)
}
