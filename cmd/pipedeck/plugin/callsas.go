// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/plugins/sdk/recording"
)

// The forms of --as.
const (
	asGRPCurl   = "grpcurl"
	asGoTest    = "gotest"
	asRecording = "recording"
)

var forms = []string{asGRPCurl, asGoTest, asRecording}

// export prints or writes a call for use elsewhere.
func (f *callsFlags) export(ctx context.Context, t *session.Target, s *session.Session,
	filter *deckv1.PluginCallFilter) error {
	call, err := f.chosen(ctx, s, filter)
	if err != nil {
		return err
	}
	if f.as == asGRPCurl {
		command, err := grpcurl(call)
		if err != nil {
			return err
		}
		if f.file == "" {
			_, err := io.WriteString(s.Out, command)
			return err
		}
		return writeFile(f.file, command)
	}
	calls, err := stageCalls(ctx, s, call)
	if err != nil {
		return err
	}
	w, err := t.Workspace()
	if err != nil {
		return err
	}
	file := f.file
	if f.as == asGoTest {
		if f.file, err = testFile(file); err != nil {
			return err
		}
		file = f.file
		name := strings.TrimSuffix(filepath.Base(file), goTestEnd) + ".jsonl"
		file = filepath.Join(filepath.Dir(file), "testdata", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return exit.Usage(fmt.Errorf("create the directory of the recording: %w", err), "give another --file")
		}
	}
	if err := writeRecording(file, w.PipedConfig(), call.GetPlugin(), calls); err != nil {
		return err
	}
	if f.as == asGoTest {
		if err := writeFile(f.file, goTest(f.file, stageOf(s.State, call), filepath.Base(file))); err != nil {
			return err
		}
		fmt.Fprintf(s.Err, "pipedeck: wrote %s and %s; run it with: go test ./...\n", f.file, file)
		return nil
	}
	fmt.Fprintf(s.Err, "pipedeck: wrote %d calls to %s; play it with: pipedeck plugin replay %s PROGRAM\n", len(calls),
		file, file)
	return nil
}

func writeFile(file, content string) error {
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		return exit.Usage(fmt.Errorf("write %s: %w", file, err), "give another --file")
	}
	return nil
}

// chosen is the call that the id names, or the last one that executed the stage.
func (f *callsFlags) chosen(ctx context.Context, s *session.Session, filter *deckv1.PluginCallFilter) (
	*deckv1.PluginCall, error) {
	if filter.GetId() != "" {
		return one(ctx, s, filter.GetId())
	}
	if filter.GetStage() == "" {
		return nil, exit.Usage(fmt.Errorf("--as %s needs one call", f.as), "give the id of one, or --stage NAME")
	}
	calls, err := read(ctx, s, &deckv1.ListPluginCallsRequest{Filter: filter})
	if err != nil {
		return nil, err
	}
	for i := len(calls) - 1; i >= 0; i-- {
		if executesStage(calls[i]) {
			return one(ctx, s, calls[i].GetId())
		}
	}
	return nil, exit.Usage(errors.New("piped remembers no call that executed the stage"),
		"deploy again, for example with: pipedeck retry APP"+s.Flags)
}

func executesStage(c *deckv1.PluginCall) bool {
	return strings.HasSuffix(c.GetMethod(), "/ExecuteStage")
}

// stageCalls are the calls of the stage that a call belongs to, and those that its plugin made for the whole
// deployment.
func stageCalls(ctx context.Context, s *session.Session, call *deckv1.PluginCall) ([]*deckv1.PluginCall, error) {
	if call.GetStageId() == "" {
		return []*deckv1.PluginCall{call}, nil
	}
	all, err := read(ctx, s, &deckv1.ListPluginCallsRequest{Messages: true,
		Filter: &deckv1.PluginCallFilter{Plugin: call.GetPlugin(), DeploymentId: call.GetDeploymentId()}})
	if err != nil {
		return nil, err
	}
	var calls []*deckv1.PluginCall
	for _, c := range sameRun(all, call) {
		ofAll := c.GetStageId() == "" && c.GetDirection() == deckv1.PluginCall_DIRECTION_TO_PIPED
		if c.GetStageId() == call.GetStageId() || ofAll {
			calls = append(calls, c)
		}
	}
	return calls, nil
}

// sameRun leaves out the calls of re-runs that a call is not part of. Each re-run begins without the metadata of its
// stage, so a recording of several could never be replayed. The calls are in the order in which they began.
func sameRun(all []*deckv1.PluginCall, call *deckv1.PluginCall) []*deckv1.PluginCall {
	first, end := 0, len(all) // of the calls of its re-run
	for i, c := range all {
		if !c.GetRerun() || !executesStage(c) || c.GetStageId() != call.GetStageId() {
			continue
		}
		if number(c) > number(call) {
			end = i
			break
		}
		first = i
	}
	var kept []*deckv1.PluginCall
	for i, c := range all {
		ofStage := c.GetStageId() == call.GetStageId()
		switch {
		case c.GetRerun() && (!call.GetRerun() || i < first || i >= end):
		case !c.GetRerun() && call.GetRerun() && ofStage:
		default:
			kept = append(kept, c)
		}
	}
	return kept
}

// writeRecording writes calls of a plugin in the order in which they began. The plugin's settings are those of the
// piped configuration, without secrets.
func writeRecording(file, pipedConfig, plugin string, calls []*deckv1.PluginCall) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return exit.Usage(fmt.Errorf("replace the recording: %w", err), "give another --file")
	}
	settings, err := recordedSettings(pipedConfig, plugin)
	if err != nil {
		return err
	}
	var kept []*deckv1.PluginCall
	missing := ""
	for _, c := range calls {
		switch {
		case c.GetDuration() == nil && executesStage(c):
			return exit.Usage(fmt.Errorf("call %s still runs", c.GetId()), "wait until the stage has ended")
		case c.GetRequestClipped() && executesStage(c):
			return exit.Usage(fmt.Errorf("the request of call %s, of %s, is too long for piped to remember",
				c.GetId(), size(c.GetRequestBytes())), "record it with: pipedeck plugin record NAME=PROGRAM")
		case c.GetDuration() == nil:
		case c.GetRequestClipped() || c.GetResponseClipped():
			missing = "calls are missing whose messages were too long for piped to remember"
		default:
			kept = append(kept, c)
		}
	}
	writer, err := recording.NewWriter(recording.WriterOptions{File: file, Plugin: plugin, Settings: settings})
	if err != nil {
		return exit.Usage(err, "give another --file")
	}
	for _, c := range kept {
		call := recording.Call{Seq: writer.Begin(), Method: c.GetMethod(), Code: c.GetCode(), Request: c.GetRequest(),
			Stream: c.GetStreamed(), Millis: max(1, c.GetDuration().AsDuration().Milliseconds())}
		if c.GetCode() == "OK" {
			call.Response = c.GetResponse()
		} else {
			call.Message = c.GetDetail()
		}
		writer.Write(c.GetDirection() == deckv1.PluginCall_DIRECTION_TO_PLUGIN, call)
	}
	if missing != "" {
		writer.Missing(missing)
	}
	return writer.Close()
}

// grpcurl is a command that makes the same call.
func grpcurl(c *deckv1.PluginCall) (string, error) {
	if c.GetRequestClipped() {
		return "", exit.Usage(fmt.Errorf("the request of call %s, of %s, is too long for piped to remember", c.GetId(),
			size(c.GetRequestBytes())), "record it with: pipedeck plugin record NAME=PROGRAM")
	}
	request, err := recording.Message(c.GetMethod(), true)
	if err != nil {
		return "", err
	}
	if err := proto.Unmarshal(c.GetRequest(), request); err != nil {
		return "", fmt.Errorf("read the request of call %s: %w", c.GetId(), err)
	}
	address := "PLUGIN_ADDRESS"
	if c.GetDirection() == deckv1.PluginCall_DIRECTION_TO_PIPED {
		address = "PIPED_ADDRESS"
	}
	data, err := protojson.Marshal(request)
	if err != nil {
		return "", err
	}
	var shown bytes.Buffer
	if err := json.Indent(&shown, data, "", "  "); err != nil {
		return "", err
	}
	return fmt.Sprintf("# once: pipedeck plugin protos plugin.pb\n# %s is host:port, such as 127.0.0.1:7001\n"+
		"grpcurl -plaintext -protoset plugin.pb -d @ \"$%s\" %s <<'REQUEST'\n%s\nREQUEST\n", address, address,
		strings.TrimPrefix(c.GetMethod(), "/"), shown.String()), nil
}
