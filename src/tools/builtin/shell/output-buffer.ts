// The beginning and the end of the output of a command.
//
// 1. It takes at most twice its limit of memory, whatever the size of the chunks.
// 2. The middle is left out and counted.
export class OutputBuffer {
  readonly #most: number
  #head = Buffer.alloc(0)
  #headLength = 0
  /** A ring buffer, and the number of bytes written to it. */
  #tail: Buffer | undefined
  #tailCount = 0

  /** @param most bytes of the head, and bytes of the tail. */
  constructor(most: number) {
    this.#most = most
  }

  get total(): number {
    return this.#headLength + this.#tailCount
  }

  get leftOut(): number {
    return Math.max(0, this.#tailCount - this.#most)
  }

  add(bytes: Uint8Array): void {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const toHead = Math.min(piece.length, this.#most - this.#headLength)
    if (toHead > 0) this.#addToHead(piece.subarray(0, toHead))
    if (toHead < piece.length) this.#addToTail(piece.subarray(toHead))
  }

  head(): Buffer {
    return this.#head.subarray(0, this.#headLength)
  }

  tail(): Buffer {
    if (!this.#tail) return Buffer.alloc(0)
    if (this.#tailCount <= this.#most) return this.#tail.subarray(0, this.#tailCount)
    const next = this.#tailCount % this.#most
    return Buffer.concat([this.#tail.subarray(next), this.#tail.subarray(0, next)])
  }

  #addToHead(piece: Buffer): void {
    const needed = this.#headLength + piece.length
    if (needed > this.#head.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#most, Math.max(needed, this.#head.length * 2, smallest)))
      this.#head.copy(larger, 0, 0, this.#headLength)
      this.#head = larger
    }
    piece.copy(this.#head, this.#headLength)
    this.#headLength = needed
  }

  #addToTail(piece: Buffer): void {
    this.#tail ??= Buffer.allocUnsafe(this.#most)
    const last = piece.subarray(Math.max(0, piece.length - this.#most))
    const place = (this.#tailCount + piece.length - last.length) % this.#most
    const first = last.copy(this.#tail, place)
    last.copy(this.#tail, 0, first)
    this.#tailCount += piece.length
  }
}

const smallest = 4096
