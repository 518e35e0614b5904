// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/piped/plugincalls"
	"github.com/pipedeck/pipedeck/plugins/sdk/recording"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newShowCommand() *cobra.Command {
	var output format.Output
	var name string
	cmd := &cobra.Command{
		Use: "show FILE", Short: "Print a recording of a plugin's calls", Args: cobra.ExactArgs(1),
		Long: `Print the calls of a recording with their messages, in the order in which they began. Bytes that hold
JSON or a text are shown as such.`,
		Example: "  pipedeck plugin show calls.jsonl\n  pipedeck plugin show calls.jsonl -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			rec, err := readRecording(args[0], name)
			if err != nil {
				return err
			}
			noteRecording(cmd.ErrOrStderr(), rec)
			calls := recordedCalls(rec)
			if output.Machine() {
				return output.Document(cmd.OutOrStdout(), callsDocument(calls))
			}
			for i, call := range calls {
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				if _, err := io.WriteString(cmd.OutOrStdout(), callText(nil, call)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "plugin-name", "", "the plugin, where the recording holds the calls of several")
	format.AddFlag(cmd, &output)
	return cmd
}

// noteRecording says what of a recording is not whole.
func noteRecording(w io.Writer, rec *recording.Recording) {
	notes := rec.Interruptions()
	if rec.Note != "" {
		notes = append(notes, rec.Note)
	}
	for _, note := range notes {
		fmt.Fprintln(w, "pipedeck:", text.Clean(note))
	}
}

// recordedCalls are the calls of a recording as those that piped remembers.
func recordedCalls(rec *recording.Recording) (calls []*deckv1.PluginCall) {
	for i := range rec.Calls {
		recorded := &rec.Calls[i]
		call := &deckv1.PluginCall{
			Id: fmt.Sprint(recorded.Seq), Plugin: rec.Plugin, Method: recorded.Method, Code: recorded.Code,
			Detail: recorded.Message, Failed: recorded.Code != "OK", Streamed: recorded.Stream,
			Direction:    deckv1.PluginCall_DIRECTION_TO_PIPED,
			RequestBytes: int64(len(recorded.Request)), ResponseBytes: int64(len(recorded.Response)),
		}
		if recorded.ToPlugin() {
			call.Direction = deckv1.PluginCall_DIRECTION_TO_PLUGIN
		}
		if recorded.Took() > 0 {
			call.Duration = durationpb.New(recorded.Took())
		}
		if request := recordedMessage(recorded.Method, recorded.Request, true); request != nil {
			call.DeploymentId, call.StageId, call.StageName = plugincalls.Subject(request)
			call.RequestJson = plugincalls.Readable(request)
		}
		if response := recordedMessage(recorded.Method, recorded.Response, false); response != nil &&
			recorded.Code == codes.OK.String() {
			call.ResponseJson = plugincalls.Readable(response)
		}
		calls = append(calls, call)
	}
	return calls
}

// recordedMessage is nil for one that cannot be read.
func recordedMessage(method string, data []byte, input bool) proto.Message {
	message, err := recording.Message(method, input)
	if err != nil || proto.Unmarshal(data, message) != nil {
		return nil
	}
	return message
}
