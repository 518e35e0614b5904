// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package player

import (
	"context"
	"maps"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// batchBytes bounds what one message holds, save for a single larger event.
const batchBytes = 1 << 20

// Server is the deck API at the position of a player.
type Server struct {
	deckv1.UnimplementedDeckServiceServer
	player *Player
}

var _ deckv1.DeckServiceServer = (*Server)(nil)

// NewServer returns the deck API of a session that is played.
func NewServer(p *Player) *Server { return &Server{player: p} }

// Refuse answers calls that a recorded session does not have in words for users. It is for the server that serves
// Server.
func Refuse(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	response, err := handle(ctx, request)
	if status.Code(err) == codes.Unimplemented {
		return nil, errRecorded
	}
	return response, err
}

// RefuseStream is Refuse for calls with streams.
func RefuseStream(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	err := handle(server, stream)
	if status.Code(err) == codes.Unimplemented {
		return errRecorded
	}
	return err
}

var errRecorded = status.Error(codes.FailedPrecondition, "this is a recorded session: it can only be watched")

// watched is what a watcher has been sent.
type watched struct{ index, jump int }

// Watch sends the whole state at the position, and then the changes as they are played.
func (s *Server) Watch(r *deckv1.WatchRequest, stream grpc.ServerStreamingServer[deckv1.WatchResponse]) error {
	p, sent := s.player, watched{jump: -1}
	var beat <-chan time.Time
	for {
		events, news := p.changes(&sent, r.GetLogs())
		if err := send(stream, events); err != nil {
			return err
		}
		if asked := r.GetHeartbeat().AsDuration(); asked > 0 && beat == nil {
			beat = p.clock.After(max(asked, time.Second))
		}
		select {
		case <-news:
		case <-beat:
			beat = nil
			if err := stream.Send(&deckv1.WatchResponse{}); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

// changes returns what a watcher lacks, and what is closed when there is more.
func (p *Player) changes(sent *watched, logs bool) (events []*deckv1.Event, news <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sent.jump != p.jump {
		now := timestamppb.New(p.session.Header.GetBeganAt().AsTime().Add(p.at()))
		if sent.jump >= 0 {
			events = append(events, &deckv1.Event{Time: now, Kind: &deckv1.Event_Reset_{Reset_: &deckv1.Reset{}}})
		}
		events = append(events, p.state.whole()...)
		events = append(events, &deckv1.Event{Time: now, Kind: &deckv1.Event_Synced{Synced: &deckv1.Synced{}}})
		*sent = watched{p.index, p.jump}
		return events, p.news
	}
	for ; sent.index < p.index; sent.index++ {
		event := p.session.Records[sent.index].GetEvent()
		if event != nil && (logs || event.GetLog() == nil) {
			events = append(events, event)
		}
	}
	return events, p.news
}

func send(stream grpc.ServerStreamingServer[deckv1.WatchResponse], events []*deckv1.Event) error {
	for len(events) > 0 {
		n, size := 0, 0
		for n < len(events) && (n == 0 || size < batchBytes) {
			size += proto.Size(events[n])
			n++
		}
		if err := stream.Send(&deckv1.WatchResponse{Events: events[:n]}); err != nil {
			return err
		}
		events = events[n:]
	}
	return nil
}

// WatchStageLog sends the log of a stage up to the position, and then what it writes. It ends with Aborted when the
// position jumps.
func (s *Server) WatchStageLog(r *deckv1.WatchStageLogRequest,
	stream grpc.ServerStreamingServer[deckv1.WatchStageLogResponse]) error {
	p, key, sent, jump := s.player, stageKey{r.GetDeploymentId(), r.GetStageId()}, 0, -1
	for first := true; ; first = false {
		p.mu.Lock()
		if jump >= 0 && jump != p.jump {
			p.mu.Unlock()
			return status.Error(codes.Aborted, "the session was moved to another time")
		}
		jump = p.jump
		log, news := p.state.written(key), p.news
		response := &deckv1.WatchStageLogResponse{
			Blocks: log.blocks[sent:], Truncated: log.truncated, Last: true,
			Completed: p.state.stages[key].GetStatus() > deckv1.StageStatus_STAGE_STATUS_RUNNING,
		}
		sent = len(log.blocks)
		p.mu.Unlock()
		if first || len(response.GetBlocks()) > 0 || response.GetCompleted() {
			if err := sendLog(stream, response); err != nil || response.GetCompleted() {
				return err
			}
		}
		select {
		case <-news:
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

func sendLog(stream grpc.ServerStreamingServer[deckv1.WatchStageLogResponse], all *deckv1.WatchStageLogResponse) error {
	for {
		n, size := 0, 0
		for n < len(all.GetBlocks()) && (n == 0 || size < batchBytes) {
			size += proto.Size(all.GetBlocks()[n])
			n++
		}
		if n == len(all.GetBlocks()) {
			return stream.Send(all)
		}
		part := &deckv1.WatchStageLogResponse{Blocks: all.GetBlocks()[:n], Truncated: all.GetTruncated()}
		if err := stream.Send(part); err != nil {
			return err
		}
		all.Blocks = all.GetBlocks()[n:]
	}
}

// GetStageRun returns what was recorded last of a stage; nothing before that.
func (s *Server) GetStageRun(_ context.Context, r *deckv1.GetStageRunRequest) (*deckv1.GetStageRunResponse, error) {
	s.player.mu.Lock()
	defer s.player.mu.Unlock()
	if run := s.player.state.runs[stageKey{r.GetDeploymentId(), r.GetStageId()}]; run != nil {
		return run, nil
	}
	return &deckv1.GetStageRunResponse{}, nil
}

// WatchResources sends what lived of an application at the position, and then the changes, also after a jump.
func (s *Server) WatchResources(r *deckv1.WatchResourcesRequest,
	stream grpc.ServerStreamingServer[deckv1.WatchResourcesResponse]) error {
	sent, was := map[string]*deckv1.Resource{}, (*resources)(nil)
	for first := true; ; first = false {
		now, of, news := s.player.resources(r.GetApplicationId(), was)
		if of == was && !first {
			now = sent
		}
		was = of
		response := difference(sent, now)
		sent = now
		if first || len(response.GetResources()) > 0 || len(response.GetRemoved()) > 0 {
			if err := stream.Send(response); err != nil {
				return err
			}
		}
		select {
		case <-news:
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

// difference is how resources differ from those that were sent.
func difference(sent, now map[string]*deckv1.Resource) *deckv1.WatchResourcesResponse {
	response := &deckv1.WatchResourcesResponse{Complete: true}
	for _, id := range slices.Sorted(maps.Keys(now)) {
		if sent[id] != now[id] {
			response.Resources = append(response.Resources, now[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(sent)) {
		if now[id] == nil {
			response.Removed = append(response.Removed, id)
		}
	}
	return response
}

// resources are those of an application at the position, and what is closed when there may be others. They are not read
// when they are still the ones that were.
func (p *Player) resources(application string, were *resources) (now map[string]*deckv1.Resource, of *resources,
	news <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of = p.state.resources[application]
	if of == nil || of == were {
		return nil, of, p.news
	}
	of.shared = true
	return of.byID, of, p.news
}
