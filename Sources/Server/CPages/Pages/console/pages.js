// The pages of the console, in the order of the list at the side. Another page is a file and a line here.

import { AuditPage } from "./audit.js";
import { BackupsPage } from "./backups.js";
import { ClusterPage } from "./cluster.js";
import { ConnectionsPage } from "./connections.js";
import { DataPage } from "./data.js";
import { DatabasesPage } from "./databases.js";
import { FilesPage } from "./files.js";
import { KeysPage } from "./keys.js";
import { LogPage } from "./log.js";
import { MetricsPage } from "./metrics.js";
import { OverviewPage } from "./overview.js";
import { RequestsPage } from "./requests.js";
import { RulesPages } from "./ruleskinds.js";
import { SettingsPage } from "./settings.js";
import { UsersPage } from "./users.js";

/**
 * `key` follows `g` on the keyboard; `icon` is the path of a picture of 24 by 24; `isRunning` says that a page is about the server and not about
 * what is in it. On narrow screens the first six have a place of their own, the others are behind "More".
 */
export const pages = [
  { name: "data", label: "Data", key: "d", make: (shell) => new DataPage(shell), icon: "M5 4v16M5 8h6M5 16h6M13 5h6v6h-6zM13 13h6v6h-6z" },
  { name: "rules", label: "Rules", key: "r", make: (shell) => new RulesPages(shell), icon: "M12 3l8 3v6c0 5-3.5 8-8 9-4.500-1-8-4-8-9V6zM9 12l2 2 4-4" },
  { name: "requests", label: "Requests", key: "q", make: (shell) => new RequestsPage(shell), icon: "M4 7h12l-3-3M20 17H8l3 3" },
  { name: "users", label: "Users", key: "u", make: (shell) => new UsersPage(shell), icon: "M12 12a4 4 0 100-8 4 4 0 000 8zM4 20c1-4 4-6 8-6s7 2 8 6" },
  { name: "files", label: "Files", key: "f", make: (shell) => new FilesPage(shell), icon: "M4 6h6l2 2h8v11H4zM4 11h16" },
  { name: "overview", label: "Overview", key: "o", isRunning: true, make: (shell) => new OverviewPage(shell), icon: "M4 13h6V4H4zm0 7h6v-5H4zm10 0h6v-9h-6zm0-16v5h6V4z" },
  { name: "connections", label: "Connections", key: "c", isRunning: true, make: (shell) => new ConnectionsPage(shell), icon: "M12 5a2 2 0 100 .1M5 19a2 2 0 100 .1M19 19a2 2 0 100 .1M12 7v5M12 12l-6 5M12 12l6 5" },
  { name: "cluster", label: "Cluster", key: "n", isRunning: true, make: () => new ClusterPage(), icon: "M12 4a2 2 0 100 .1M5 18a2 2 0 100 .1M19 18a2 2 0 100 .1M11 7l-5 9M13 7l5 9M8 19h8" },
  { name: "databases", label: "Databases", key: "t", isRunning: true, make: (shell) => new DatabasesPage(shell), icon: "M5 6c0-3 14-3 14 0v12c0 3-14 3-14 0zM5 6c0 3 14 3 14 0M5 12c0 3 14 3 14 0" },
  { name: "backups", label: "Backups", key: "b", isRunning: true, make: () => new BackupsPage(), icon: "M12 4v10m-4-4l4 4 4-4M5 19h14" },
  { name: "keys", label: "Keys", key: "k", isRunning: true, make: () => new KeysPage(), icon: "M8 16a4 4 0 110-8 4 4 0 010 8zM12 12h9M17 12v4M20 12v3" },
  { name: "settings", label: "Settings", key: "s", isRunning: true, make: () => new SettingsPage(), icon: "M4 7h8M18 7h2M15 4.500v5M4 17h2M12 17h8M9 14.500v5" },
  { name: "log", label: "Log", key: "l", isRunning: true, make: (shell) => new LogPage(shell), icon: "M5 6h14M5 10h10M5 14h14M5 18h7" },
  { name: "metrics", label: "Metrics", key: "m", isRunning: true, make: () => new MetricsPage(), icon: "M4 20V4M4 20h16M7 15l4-5 3 3 5-7" },
  { name: "audit", label: "Audit", key: "a", isRunning: true, make: (shell) => new AuditPage(shell), icon: "M6 3h9l4 4v14H6zM9 11h7M9 15h7M9 7h3" },
];
