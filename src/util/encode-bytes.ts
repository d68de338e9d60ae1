/** A multiple of three, so that only the last piece is padded. */
const pieceLength = 8_190

export function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let start = 0; start < bytes.length; start += pieceLength)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(start, start + pieceLength))))
  return pieces.join('')
}

/** Characters that are no base64 end it. */
export const fromBase64 = (text: string): Uint8Array =>
  Uint8Array.from(
    atob(
      text
        .replaceAll(/[^\w+/-].*$|\s/gs, '')
        .replaceAll('-', '+')
        .replaceAll('_', '/'),
    ),
    (char) => char.charCodeAt(0),
  )
