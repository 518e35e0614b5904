// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest_test

import (
	"context"
	"flag"
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
	fmt.Println(passes("greetAll", test))
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
	fmt.Println(passes("polite", test))
	// Output: true
}

// passes runs a test and returns whether it passes. With go test -v, what the test logs would be among the output of
// the example.
func passes(name string, test func(*testing.T)) bool {
	verbose := flag.Lookup("test.v").Value
	before := verbose.String()
	_ = verbose.Set("false") // never fails
	defer func() { _ = verbose.Set(before) }()
	all := func(string, string) (bool, error) { return true, nil }
	return testing.RunTests(all, []testing.InternalTest{{Name: name, F: test}})
}
