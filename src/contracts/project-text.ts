const opening = 'Project instructions from the file '
const closing = ':'

/** Marks the text of a project file, so that a model does not take it for a message of the user. */
export const wrapProjectText = (file: string, text: string): string => `${opening}${file}${closing}\n\n${text}`

export const isProjectText = (text: string): boolean => text.startsWith(opening) && (text.split('\n', 1)[0] ?? '').endsWith(closing)
