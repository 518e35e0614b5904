// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package defaults takes defaults of flags from environment variables and from the user's configuration file.
//
// The order is: command line, PIPEDECK_COMMAND_FLAG, PIPEDECK_FLAG, the file's lines for the command, its lines for all
// commands, the built-in default. A default from there is like a built-in one: the flag does not count as given, and
// help shows the value. Flags that consent, delete or act in another name cannot be set so. Hidden commands, such as
// the process that runs an environment, get their flags from other processes and take no defaults.
//
// Mistakes are *Mistakes with the place of each, for exit code 2.
package defaults
