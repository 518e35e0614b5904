// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
)

//go:embed schema.json
var optionsSchema []byte

func main() { engine.Main(optionsSchema, newPlugin) }
