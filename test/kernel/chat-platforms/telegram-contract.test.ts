import { platformContract } from './platform-contract.ts'
import { telegramKinds } from './platform-scene.ts'

platformContract(telegramKinds)
