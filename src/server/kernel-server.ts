import type { SessionService } from '../contracts/index.ts'
import { type HeadendServerOptions, PublicView } from './http/index.ts'

/** What a kernel learns of its server. */
export class KernelServer {
  /** Where others reach it, once they do. */
  url: string | undefined
  readonly #view: PublicView

  constructor(hidden: HeadendServerOptions['hiddenFolders']) {
    this.#view = new PublicView(hidden)
  }

  /** Sessions as clients without `admin` see them. */
  shown(sessions: SessionService): SessionService {
    return this.#view.sessions(sessions)
  }
}
