const opening = 'From the file '
const closing = ', for whoever works in this project:'

/** What a file of the project says, so that nobody takes it for the words of a person. */
export const wrapProjectText = (file: string, text: string): string => `${opening}${file}${closing}\n\n${text}`

export const isProjectText = (text: string): boolean => text.startsWith(opening) && (text.split('\n', 1)[0] ?? '').endsWith(closing)
