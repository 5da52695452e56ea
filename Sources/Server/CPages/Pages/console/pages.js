// The pages of the console, in the order of the list at the side. Another page is a file and a line here.

import { DataPage } from "./data.js";
import { OverviewPage } from "./overview.js";
import { RequestsPage } from "./requests.js";
import { RulesPage } from "./rules.js";
import { UsersPage } from "./users.js";

/** `key` follows `g` on the keyboard; `icon` is the path of a picture of 24 by 24. */
export const pages = [
  { name: "overview", label: "Overview", key: "o", make: (shell) => new OverviewPage(shell), icon: "M4 13h6V4H4zm0 7h6v-5H4zm10 0h6v-9h-6zm0-16v5h6V4z" },
  { name: "data", label: "Data", key: "d", make: (shell) => new DataPage(shell), icon: "M5 4v16M5 8h6M5 16h6M13 5h6v6h-6zM13 13h6v6h-6z" },
  { name: "rules", label: "Rules", key: "r", make: (shell) => new RulesPage(shell), icon: "M12 3l8 3v6c0 5-3.5 8-8 9-4.500-1-8-4-8-9V6zM9 12l2 2 4-4" },
  { name: "requests", label: "Requests", key: "q", make: (shell) => new RequestsPage(shell), icon: "M4 7h12l-3-3M20 17H8l3 3" },
  { name: "users", label: "Users", key: "u", make: (shell) => new UsersPage(shell), icon: "M12 12a4 4 0 100-8 4 4 0 000 8zM4 20c1-4 4-6 8-6s7 2 8 6" },
];
