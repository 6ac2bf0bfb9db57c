// Waves of colour that fill an image, and a histogram of its brightness.
//
//     fxc -T cs_5_0 -E CSMain plasma.hlsl -Fo plasma.dxbc
//     dxc -T cs_6_0 -E CSMain plasma.hlsl -Fo plasma.dxil

cbuffer Parameters : register(b0)
{
    float2 Size;   // of the image, in pixels
    float Time;
    float Scale;
};

RWTexture2D<unorm float4> Image : register(u0);
RWStructuredBuffer<uint> Histogram : register(u1); // 16 counts

groupshared uint counts[16];

float3 Palette(float t)
{
    return 0.5 + 0.5 * cos(6.2831853 * (t + float3(0.0, 0.33, 0.67)));
}

[numthreads(8, 8, 1)]
void CSMain(uint3 id : SV_DispatchThreadID, uint index : SV_GroupIndex)
{
    if (index < 16)
        counts[index] = 0;
    GroupMemoryBarrierWithGroupSync();

    float2 p = (id.xy + 0.5 - 0.5 * Size) / Size.y * Scale;
    float wave = sin(p.x + Time) + sin(1.3 * p.y - 0.7 * Time) + sin(length(p) * 2.0 - Time);
    float3 color = Palette(wave / 6.0);
    if (all(id.xy < (uint2)Size))
    {
        Image[id.xy] = float4(color, 1.0);
        uint brightness = (uint)(dot(color, float3(0.299, 0.587, 0.114)) * 15.999);
        InterlockedAdd(counts[brightness], 1);
    }
    GroupMemoryBarrierWithGroupSync();

    if (index < 16 && counts[index] != 0)
        InterlockedAdd(Histogram[index], counts[index]);
}
