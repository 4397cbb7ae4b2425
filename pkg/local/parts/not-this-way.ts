/** Why a way of the table did not lead to the program. Not a failure yet: the next way is tried. An empty message is not worth telling. */
export class NotThisWay extends Error {
  override readonly name = 'NotThisWay';
}
