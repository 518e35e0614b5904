// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/theme"
)

func TestTheLastWordsOfAPanicAreItsHeadWithoutRegisters(t *testing.T) {
	t.Parallel()
	output := []string{"listening", "fatal error: unexpected signal", "[signal SIGSEGV]", "",
		"goroutine 1 [running]:", "main.main()", "rax    0x0", "rip    0x4a1b2c", "cs     0x33"}
	require.Equal(t, output[1:6], lastWords(output))
	var many []string
	for i := range 40 {
		many = append(many, fmt.Sprint("line ", i))
	}
	require.Equal(t, many[28:], lastWords(many))
}

func TestASparkIsInProportion(t *testing.T) {
	t.Parallel()
	th := theme.New(theme.Options{NoColor: true})
	require.Equal(t, "▁▄█", ansi.Strip(spark(th, []float64{0, 50, 100})))
	require.Equal(t, "▁▁", ansi.Strip(spark(th, []float64{0, 0})))
	require.Empty(t, spark(th, []float64{3}), "one value says nothing")
	require.Equal(t, ".=@", ansi.Strip(spark(theme.New(theme.Options{NoColor: true, ASCII: true}),
		[]float64{0, 50, 100})))
}

func TestTheConfigurationIsReadAsItWasTyped(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		`{"run":"a \u003e\u00269 \u003c b"}`: `{"run":"a >&9 < b"}`, // as Go writes it
		`{"run":"a \\u003e b\n\""}`:          `{"run":"a \\u003e b\n\""}`,
		`{"run":"\u00e9\u0001"}`:             `{"run":"\u00e9\u0001"}`,
		`\`:                                  `\`,
		`not json \u00`:                      `not json \u00`,
	} {
		require.Equal(t, want, asTyped(config))
	}
}
