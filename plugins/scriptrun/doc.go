// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command scriptrun is the plugin of the stage SCRIPT_RUN, which runs a shell script in the application's
// directory, and of SCRIPT_RUN_ROLLBACK, which runs its onRollback script. piped starts it.
//
// PIPEDECK_SERVICES_FILE may name a file with the addresses of Services, which the environment of pipedeck keeps: lines
// PIPEDECK_SERVICE_…=VALUE, and no others count. Each script gets those that the file holds when the script starts.
//
// The stage's "with" has run (required), env, and onRollback. The script is given to /bin/sh -l -c with
// the SR_ variables of PipeCD v1; what it prints goes to the stage log line by line. When the stage is
// cancelled, times out or fails, everything that descends from the script is ended before the stage is. What a
// successful script leaves in the background lives on until the plugin ends. A rollback script runs only
// when its stage had started. A stage that is run again after a crash of the agent runs its script again.
package main
