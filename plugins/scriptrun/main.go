// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// stopGrace is how long a script may take to end after SIGTERM before it is killed.
const stopGrace = 5 * time.Second

//go:embed schema.json
var schema []byte

func main() {
	sdk.Main(sdk.ForStages(&plugin{stopGrace: stopGrace}).WithSchema(schema))
}
