// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/pipedeck/pipedeck/plugins/sdk"

func main() { sdk.Main(sdk.ForDeployment(newPlugin())) }
