import type { ApprovalId, Approver, Blobs, Clock, Hook, Model, Random, Sandbox, SchemaValidator, Tool } from '../contracts/index.ts'
import { TroupeError } from '../contracts/index.ts'
import { Session, type SessionParts } from '../core/index.ts'
import type { Redactor } from '../util/redact.ts'
import type { Offer, ToolRegistry } from './tool-registry.ts'

/** What performing reaches the world through. */
export interface StagePorts {
  readonly models: ReadonlyMap<string, Model>
  readonly registry: ToolRegistry
  readonly validator: SchemaValidator
  readonly approver: Approver
  readonly sandbox: Sandbox
  readonly hooks: readonly Hook[]
  readonly blobs: Blobs
  readonly random: Random
  readonly redactor: Redactor
  readonly overlay: { readonly [name: string]: string }
  readonly flags: readonly string[]
}

/** A session with everything that its steps need to be performed. */
export class Stage extends Session {
  readonly ports: StagePorts
  /** What the approver said to a request that it did not decide. Not part of the state: a new driver asks anew. */
  readonly verdicts = new Map<ApprovalId, 'asked' | 'wait' | 'suspend'>()

  constructor(parts: SessionParts, ports: StagePorts) {
    super(parts)
    this.ports = ports
  }

  model(name: string): Model {
    const model = this.ports.models.get(name)
    if (!model) throw new TroupeError('model_unknown', `The session has no model "${name}".`)
    return model
  }

  /** A tool by the name that its intent has; gates aside, as it was offered when it was called. */
  toolOf(name: string): Tool | undefined {
    return this.ports.registry.find(name)
  }

  /** The tools that the next step offers to a model. */
  offer(model: Model): Offer {
    const { flags, registry } = this.ports
    return registry.offer(this.state.tools, model, this.state.storedOutputs > 0 ? [...flags, 'stored_output'] : flags)
  }
}

/** Milliseconds since a moment of the monotonic clock, to the hundredth. */
export const since = (clock: Clock, started: number): number => Math.round((clock.monotonic() - started) * 100) / 100
