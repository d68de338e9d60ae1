import { platformContract } from './platform-contract.ts'
import { discordKinds } from './platform-scene.ts'

platformContract(discordKinds)
