// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

// greetAll is a function of a plugin that needs a log alone.
func greetAll(log sdk.StageLog, names ...string) {
	for _, name := range names {
		log.Infof("Hello, %s!", name)
	}
}

type polite struct{ behaving }

func (polite) ExecuteStage(_ context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
	greetAll(req.Log, "Ada")
	return sdk.Success, nil
}

// A function alone: the log for tests keeps what is written.
func ExampleNewLog() {
	test := func(t *testing.T) {
		log := sdktest.NewLog(t)
		greetAll(log, "Ada", "Grace")
		if log.Text() != "Hello, Ada!\nHello, Grace!\n" {
			t.Error(log.Text())
		}
	}
	fmt.Println(testing.RunTests(matchAll, []testing.InternalTest{{Name: "greetAll", F: test}}))
	// Output: true
}

// A whole plugin, over real gRPC.
func ExampleStart() {
	test := func(t *testing.T) {
		h := sdktest.Start(t, sdk.ForStages(polite{}), sdktest.Options{})
		if status := h.Execute(t, "BEHAVE", "{}"); status != sdk.StageSuccess {
			t.Error(status)
		}
		if log := h.Piped.Log("behave"); log != "Hello, Ada!\n" {
			t.Error(log)
		}
	}
	fmt.Println(testing.RunTests(matchAll, []testing.InternalTest{{Name: "polite", F: test}}))
	// Output: true
}

func matchAll(string, string) (bool, error) { return true, nil }
