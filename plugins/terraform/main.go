// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/terraform/command"
)

//go:embed schema.json
var schema []byte

func main() {
	command.Apart()
	sdk.Main(sdk.ForDeployment(newPlugin()).WithSchema(schema))
}
