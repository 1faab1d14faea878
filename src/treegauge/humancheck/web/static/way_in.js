// A link to a bracket without anybody's token leads on by the link that this browser opened last.

import { remembered } from "./memory.js";

const way = remembered("way in");
if (way) location.replace(`${way}?question=${location.pathname.split("/").pop()}`);
