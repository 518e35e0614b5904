// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

//go:embed schema.json
var schema []byte

func main() {
	sdk.Main(sdk.ForDeployment(newPlugin()).WithSchema(schema))
}
