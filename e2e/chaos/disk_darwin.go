// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
)

func tryFullDisk(context.Context, *chaos) error {
	fmt.Println("disk: skipped: needs Linux")
	return nil
}

func tryPowerCut(context.Context, *chaos) error {
	fmt.Println("power: skipped: needs Linux")
	return nil
}

func canCutPower() bool { return false }
